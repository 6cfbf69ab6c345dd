import { en } from './en/index.ts'
import type { list as enList } from './en/list.ts'
import type { rest as enRest } from './en/rest.ts'

export type Texts = typeof en & typeof enList & typeof enRest
export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages

const storageKey = 'parley.language'

/**
 * Every text that people read, in their language. Those of the frame and the inbox are there before anything is drawn; the
 * pages that need the rest are loaded by `withTexts`, and the list of leads by `withListTexts`.
 */
export let t = en as Texts
export let language: Language = 'en'

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

const loadList = once(() => {
  const texts = { en: () => import('./en/list.ts'), pt: () => import('./pt/list.ts'), es: () => import('./es/list.ts') }
  return texts[language]().then(({ list }) => list)
})
const loadRest = once(() => {
  const texts = { en: () => import('./en/rest.ts'), pt: () => import('./pt/rest.ts'), es: () => import('./es/rest.ts') }
  return texts[language]().then(({ rest }) => rest)
})

/** Loads something together with the texts that all pages but the inbox need. */
export async function withTexts<T>(load: () => Promise<T>): Promise<T> {
  // Before, not beside: a module may speak as soon as it is there.
  await Promise.all([loadList(), loadRest()])
  return load()
}

/** Loads something together with what the list of leads says, and no more. */
export async function withListTexts<T>(load: () => Promise<T>): Promise<T> {
  await loadList()
  return load()
}

/** Adds texts to those that are there. What fails is tried again the next time. */
function once(load: () => Promise<Partial<Texts>>): () => Promise<void> {
  let loading: Promise<void> | undefined
  return () => {
    loading ??= load().then(
      (more) => {
        t = { ...t, ...more }
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
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
