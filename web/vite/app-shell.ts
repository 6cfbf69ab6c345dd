import type { Plugin, Rolldown } from 'vite'
import { languages } from '../src/text/languages.ts'

type Bundle = Rolldown.OutputBundle
type Chunk = Rolldown.OutputChunk

/** Files that the browser preloads before the program requests them. */
interface Part {
  scripts: string[]
  styles: string[]
}

interface PageEntry {
  source: string
  /** Catalogs that it waits for; all of them by default. */
  texts?: readonly string[]
}

const pages: Record<string, PageEntry> = {
  home: { source: 'home/HomePage.tsx', texts: ['home'] },
  inbox: { source: 'inbox/InboxPage.tsx', texts: [] },
  leads: { source: 'leads/LeadsPage.tsx', texts: ['list'] },
  forms: { source: 'forms/FormsPage.tsx' },
  connections: { source: 'connections/ConnectionsPage.tsx' },
  keys: { source: 'keys/KeysPage.tsx' },
  webhooks: { source: 'webhooks/WebhooksPage.tsx' },
  settings: { source: 'settings/SettingsPage.tsx' },
  profile: { source: 'profile/ProfilePage.tsx' },
  // Not a page: used before sign-in.
  entry: { source: 'sign-in/EntryPages.tsx', texts: ['entry'] },
  // Not a page, but what the inbox loads if the address names a conversation.
  thread: { source: 'inbox/ThreadPane.tsx', texts: ['conversation'] },
}
const allTexts = ['list', 'home', 'conversation', 'common']

const textsIn = (language: string, part: string): string[] => [
  `text/${language}/${part}.json`,
  ...(part === 'common' ? ['text/refusals.ts'] : []),
]

/** How the bundler adds what a part that loads later needs: before the base styles, which would then override it. */
const append = 'document.head.appendChild(link)'

/**
 * Shows the shape of the app before other files have loaded: styles are requested below what is drawn at once, and
 * `app-shell.json` names the files of each page, which the server adds to the HTML that it sends. Styles of parts that
 * load later go between the base styles and those of the page, as in the order of their imports.
 */
export function appShell(): Plugin {
  return {
    name: 'app-shell',
    enforce: 'post',
    apply: 'build',
    transform: {
      filter: { id: /vite\/preload-helper/ },
      handler(code) {
        if (!code.includes(append)) this.error(`The bundler no longer contains ${append}`)
        return { code: code.replace(append, `document.getElementById('later').before(link)`), map: null }
      },
    },
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) => {
        const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? []
        const scripts = html.match(/ *<link rel="modulepreload"[^>]*>\n/g) ?? []
        const without = [...styles, ...scripts].reduce((text, link) => text.replace(link, ''), html)
        // Sent with every page load.
        const flat = without.replace(/\n +/g, '\n')
        return flat
          .replace('<!--scripts-->', () => `${heaviestFirst(scripts, bundle).join('\n')}\n<!--scripts-->`)
          .replace('<!--styles-->', () => `${styles.join('').trim()}\n<template id="later"></template>\n<!--styles-->`)
      },
    },
    generateBundle(_, bundle) {
      this.emitFile({ type: 'asset', fileName: 'app-shell.json', source: JSON.stringify(partsOf(bundle)) })
    },
  }
}

/**
 * Browsers request six files at once, in the order of the page. The largest must not wait for a small one; small ones
 * take no longer beside it.
 */
function heaviestFirst(links: readonly string[], bundle: Bundle = {}): string[] {
  const weightOf = (link: string) => {
    const file = bundle[/href="\/([^"]+)"/.exec(link)?.[1] ?? '']
    return file?.type === 'chunk' ? file.code.length : 0
  }
  return links.map((link) => link.trim()).toSorted((a, b) => weightOf(b) - weightOf(a))
}

function partsOf(bundle: Bundle) {
  const chunks = Object.values(bundle).filter((file): file is Chunk => file.type === 'chunk')
  const begun = filesOf(
    bundle,
    chunks.find(({ isEntry }) => isEntry),
  )
  const beside = (sources: readonly string[]): Part => {
    const parts = sources.map((source) => filesOf(bundle, chunkOf(chunks, source)))
    const isNew = (kind: keyof Part) =>
      [...new Set(parts.flatMap((part) => part[kind]))].filter((file) => !begun[kind].includes(file))
    return { scripts: isNew('scripts'), styles: isNew('styles') }
  }
  const inEach = (sourcesIn: (language: string) => readonly string[]) =>
    Object.fromEntries(Object.keys(languages).map((language) => [language, beside(sourcesIn(language))]))
  const sectionParts = Object.entries(pages).map(([name, { source, texts = allTexts }]) => [
    name,
    inEach((language) => [...texts.flatMap((part) => textsIn(language, part)), source]),
  ])
  return { languages: inEach((language) => textsIn(language, 'frame')), sections: Object.fromEntries(sectionParts) }
}

function chunkOf(chunks: readonly Chunk[], source: string): Chunk {
  const isIt = (id: string | null) => id?.endsWith(`/web/src/${source}`) === true
  const chunk =
    chunks.find(({ facadeModuleId }) => isIt(facadeModuleId)) ?? chunks.find(({ moduleIds }) => moduleIds.some(isIt))
  if (chunk === undefined) throw new Error(`No part of the app has web/src/${source} in it`)
  return chunk
}

/** Returns a chunk with its static imports, and their styles. */
function filesOf(bundle: Bundle, first: Chunk | undefined): Part {
  const scripts = new Set<string>()
  const styles = new Set<string>()
  const visit = (chunk: Rolldown.OutputAsset | Chunk | undefined) => {
    if (chunk?.type !== 'chunk' || scripts.has(chunk.fileName)) return
    scripts.add(chunk.fileName)
    for (const file of chunk.imports) visit(bundle[file])
    for (const file of chunk.viteMetadata?.importedCss ?? []) styles.add(file)
  }
  visit(first)
  return { scripts: [...scripts], styles: [...styles] }
}
