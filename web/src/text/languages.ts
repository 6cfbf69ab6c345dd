/** Languages of the app, each with a folder of catalogs beside this file, and their own names. */
export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages
