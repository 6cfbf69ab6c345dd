/** The languages of the app, each by a folder of catalogues beside this file, and what it calls itself. */
export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages
