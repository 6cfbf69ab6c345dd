/**
 * The first free millisecond from `wanted` on. The platform's clock has whole seconds, so that messages of one second
 * share a time; within a conversation each needs one of its own for `before` paging to lose none.
 */
export function uniqueTime(wanted: Date, isTaken: (timeMs: number) => boolean): Date {
  let timeMs = wanted.getTime()
  while (isTaken(timeMs)) timeMs++
  return new Date(timeMs)
}
