import type { entry as enEntry } from './en/entry.ts'
import type { charts as enCharts, home as enHome } from './en/home.ts'
import type { talk as enTalk } from './en/inbox/talk.ts'
import { en } from './en/index.ts'
import type { list as enList } from './en/list.ts'
import type { rest as enRest } from './en/rest.ts'

export type Texts = typeof en &
  typeof enList & { charts: typeof enCharts; home: typeof enHome; entry: typeof enEntry } & typeof enTalk &
  typeof enRest
export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages

const storageKey = 'parley.language'

/**
 * Every text that people read, in their language. Those of the frame and the inbox's list are there before anything is
 * drawn; what says more is loaded by `withTexts`.
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

const parts = {
  list: {
    en: () => import('./en/list.ts').then(({ list }) => list),
    pt: () => import('./pt/list.ts').then(({ list }) => list),
    es: () => import('./es/list.ts').then(({ list }) => list),
  },
  home: {
    en: () => import('./en/home.ts').then(({ charts, home }) => ({ charts, home })),
    pt: () => import('./pt/home.ts').then(({ charts, home }) => ({ charts, home })),
    es: () => import('./es/home.ts').then(({ charts, home }) => ({ charts, home })),
  },
  talk: {
    en: () => import('./en/inbox/talk.ts').then(({ talk }) => talk),
    pt: () => import('./pt/inbox/talk.ts').then(({ talk }) => talk),
    es: () => import('./es/inbox/talk.ts').then(({ talk }) => talk),
  },
  entry: {
    en: () => import('./en/entry.ts').then(({ entry }) => ({ entry })),
    pt: () => import('./pt/entry.ts').then(({ entry }) => ({ entry })),
    es: () => import('./es/entry.ts').then(({ entry }) => ({ entry })),
  },
  rest: {
    en: () => import('./en/rest.ts').then(({ rest }) => rest),
    pt: () => import('./pt/rest.ts').then(({ rest }) => rest),
    es: () => import('./es/rest.ts').then(({ rest }) => rest),
  },
}
type PartName = keyof typeof parts
const names = Object.keys(parts) as PartName[]
/** What the app's own pages speak with: those before it have a part of their own. */
const all = names.filter((name) => name !== 'entry')
const loaders = Object.fromEntries(names.map((name) => [name, once(() => parts[name][language]())])) as Record<
  PartName,
  () => Promise<void>
>

/** Loads something together with all texts, unless it says which parts it needs. */
export async function withTexts<T>(load: () => Promise<T>, names: readonly PartName[] = all): Promise<T> {
  // Before, not beside: a module may speak as soon as it is there.
  await Promise.all(names.map((name) => loaders[name]()))
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
