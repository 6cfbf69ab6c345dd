/** Allows style elements under the Content-Security-Policy of this page load. */
export const styleNonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? ''
