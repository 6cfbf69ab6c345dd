/** Returns whether a complete address is on another server: secrets for the previous one are not valid there. */
export function isOtherServer(before: string, after: string): boolean {
  return URL.canParse(before) && URL.canParse(after) && new URL(before).origin !== new URL(after).origin
}
