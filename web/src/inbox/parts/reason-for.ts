/** Returns the reason that a code belongs to. */
export const reasonFor = <R extends string>(codes: Record<R, readonly string[]>, code: string): R | undefined =>
  (Object.keys(codes) as R[]).find((reason) => codes[reason].includes(code))
