import type entry from './en/entry.json'
import type frame from './en/frame.json'
import type home from './en/home.json'
import type list from './en/list.json'
import type rest from './en/rest.json'
import type talk from './en/talk.json'
import { type Language, languages } from './languages.ts'
import { type Catalogue, type TextsOf, textsOf } from './messages.ts'

export type Texts = TextsOf<typeof entry & typeof frame & typeof home & typeof list & typeof rest & typeof talk>

const storageKey = 'parley.language'

/**
 * Every text that people read, in their language. Those of the frame and the inbox's list are loaded before anything is
 * drawn; what says more is loaded by `withTexts`.
 */
export let t = {} as Texts
export let language: Language = 'en'
/** What the service says of a field or a whole request, in the reader's words; null before the rest of the texts is there. */
export let translateProblem: (message: string) => string | null = () => null

export async function loadTexts(): Promise<void> {
  language = chosenLanguage()
  await loaders.frame()
  document.documentElement.lang = language
}

/** What the app's own pages speak with: those before it have a part of their own. */
const all = ['frame', 'list', 'home', 'talk', 'rest'] as const
const names = [...all, 'entry'] as const
type PartName = (typeof names)[number]
const loaders = Object.fromEntries(names.map((name) => [name, once(() => addTexts(name))])) as Record<
  PartName,
  () => Promise<void>
>

/** Loads something together with all texts, unless it says which parts it needs. */
export async function withTexts<T>(load: () => Promise<T>, names: readonly PartName[] = all): Promise<T> {
  // Before, not beside: a module may speak as soon as it is there.
  await Promise.all(names.map((name) => loaders[name]()))
  return load()
}

/** Adds texts to those that are there. */
async function addTexts(part: PartName): Promise<void> {
  const reading: Promise<{ default: Catalogue }> = import(`./${language}/${part}.json`, { with: { type: 'json' } })
  const [catalogue, refusals] = await Promise.all([reading, part === 'rest' ? import('./refusals.ts') : null])
  t = { ...t, ...textsOf(catalogue.default, language) }
  if (refusals !== null) translateProblem = (message) => refusals.translateProblem(t.problem, message)
}

/** What fails is tried again the next time. */
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

/** Takes another language; the page is drawn anew in it. Drafts are kept elsewhere. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen)
  window.location.reload()
}

function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages].map((one) => one.slice(0, 2))
  return wanted.find((one): one is Language => one in languages) ?? 'en'
}
