/** Letters without case and accents, so that `joao` finds João. */
export const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
