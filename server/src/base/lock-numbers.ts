/** The advisory locks of what one process does at a time. Any number will do that no other has: they belong to one database. */
export const lockNumbers = { migration: 7_275_391, firstStart: 7_275_392, partitions: 7_275_393 } as const
