/** How long events, and what became of them, are kept. */
export const keptMs = 30 * 86_400_000
