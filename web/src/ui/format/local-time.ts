/** A moment as an input of type `datetime-local` wants it: in the reader's zone, to the second. */
export function localInput(iso: string): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** The same to the minute, for a moment that people choose: seconds would only stand in the way. */
export const localMinute = (iso: string): string => localInput(iso).slice(0, 16)

/** What such an input says, as a moment; `otherwise` while it says none. */
export function readLocalInput(text: string, otherwise: string): string {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? otherwise : at.toISOString()
}
