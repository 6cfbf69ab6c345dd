import { en } from './en/index.ts'
import type { rest as enRest } from './en/rest.ts'

export type Texts = typeof en & typeof enRest
export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages

const storageKey = 'parley.language'

/**
 * Every text that people read, in their language. Those of the frame and the inbox are there before anything is drawn; the
 * pages that need the rest are loaded by `withTexts`.
 */
export let t = en as Texts
export let language: Language = 'en'
let restLoading: Promise<void> | undefined

export async function loadTexts(): Promise<void> {
  language = chosenLanguage()
  const texts = {
    en: async () => en,
    pt: async () => (await import('./pt/index.ts')).pt,
    es: async () => (await import('./es/index.ts')).es,
  }
  t = { ...t, ...(await texts[language]()) }
  document.documentElement.lang = language
}

/** Loads something together with the texts that all pages but the inbox need. */
export async function withTexts<T>(load: () => Promise<T>): Promise<T> {
  restLoading ??= loadRest().catch((error: unknown) => {
    restLoading = undefined
    throw error
  })
  // Before, not beside: a module may speak as soon as it is there.
  await restLoading
  return load()
}

async function loadRest(): Promise<void> {
  const texts = { en: () => import('./en/rest.ts'), pt: () => import('./pt/rest.ts'), es: () => import('./es/rest.ts') }
  t = { ...t, ...(await texts[language]()).rest }
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
