/** In characters, as the service counts them. */
export const maxReply = 16_384
export const maxNote = 4096
