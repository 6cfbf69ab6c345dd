/** Languages of texts that the service writes to people: mails and push notifications. */
export const languages = ['en', 'es', 'pt'] as const
export type Language = (typeof languages)[number]
