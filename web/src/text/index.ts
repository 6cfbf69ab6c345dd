import type common from './en/common.json'
import type conversation from './en/conversation.json'
import type entry from './en/entry.json'
import type frame from './en/frame.json'
import type home from './en/home.json'
import type list from './en/list.json'
import { type Language, languages } from './languages.ts'
import { type Catalog, type TextsOf, textsOf } from './messages.ts'

export type Texts = TextsOf<
  typeof entry & typeof frame & typeof home & typeof list & typeof common & typeof conversation
>

const storageKey = 'parley.language'

/**
 * All texts of the app in the chosen language. Texts of the frame and the inbox list are loaded before the first
 * render; others by `withTexts`.
 */
export let t = {} as Texts
export let language: Language = 'en'
/** Translates an error of the server about a field or request; null until the remaining texts have loaded. */
export let translateProblem: (message: string) => string | null = () => null

export async function loadTexts(): Promise<void> {
  language = chosenLanguage()
  await loaders.frame()
  document.documentElement.lang = language
}

/** Catalogs of the app; pages before sign-in have their own. */
const all = ['frame', 'list', 'home', 'conversation', 'common'] as const
const names = [...all, 'entry'] as const
type PartName = (typeof names)[number]
const loaders = Object.fromEntries(names.map((name) => [name, once(() => addTexts(name))])) as Record<
  PartName,
  () => Promise<void>
>

/** Loads something with all catalogs, or with the given ones. */
export async function withTexts<T>(load: () => Promise<T>, names: readonly PartName[] = all): Promise<T> {
  // Before, not in parallel: a module may use texts as soon as it is loaded.
  await Promise.all(names.map((name) => loaders[name]()))
  return load()
}

/** Adds a catalog to the loaded texts. */
async function addTexts(part: PartName): Promise<void> {
  const reading: Promise<{ default: Catalog }> = import(`./${language}/${part}.json`, { with: { type: 'json' } })
  const [catalog, refusals] = await Promise.all([reading, part === 'common' ? import('./refusals.ts') : null])
  t = { ...t, ...textsOf(catalog.default, language) }
  if (refusals !== null) translateProblem = (message) => refusals.translateProblem(t.problem, message)
}

/** Runs once; a failed run is repeated on the next call. */
function once(load: () => Promise<void>): () => Promise<void> {
  let loading: Promise<void> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/** Changes the language and renders the page again. Drafts are stored elsewhere. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen)
  window.location.reload()
}

function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages].map((one) => one.slice(0, 2))
  return wanted.find((one): one is Language => one in languages) ?? 'en'
}
