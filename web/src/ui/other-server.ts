/** Whether an address, once it is one, leads to another server: what was given for the one before is not for that. */
export function isOtherServer(before: string, after: string): boolean {
  return URL.canParse(before) && URL.canParse(after) && new URL(before).origin !== new URL(after).origin
}
