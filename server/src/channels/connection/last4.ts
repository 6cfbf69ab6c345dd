/** What is shown of a secret. Four of a few characters would be most of it. */
export const last4 = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '')
