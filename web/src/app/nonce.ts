/** Lets style elements through the content security policy of this visit. */
export const styleNonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? ''
