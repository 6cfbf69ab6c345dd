import { en } from './en/index.ts'

export type Texts = typeof en
export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages

const storageKey = 'parley.language'

/** Every text that people read, in their language. Set once, before anything is drawn. */
export let t: Texts = en
export let language: Language = 'en'

export async function loadTexts(): Promise<void> {
  language = chosenLanguage()
  if (language === 'pt') t = (await import('./pt/index.ts')).pt
  if (language === 'es') t = (await import('./es/index.ts')).es
  document.documentElement.lang = language
}

/** Takes another language; the page is drawn anew in it. Drafts are kept elsewhere. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen)
  window.location.reload()
}

function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages].map((one) => one.slice(0, 2))
  return wanted.find((one): one is Language => one in languages) ?? 'en'
}
