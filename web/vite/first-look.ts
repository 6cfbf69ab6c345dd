import type { Plugin, Rolldown } from 'vite'

type Bundle = Rolldown.OutputBundle
type Chunk = Rolldown.OutputChunk

/** What the browser is told to fetch before the program asks for it. */
interface Part {
  scripts: string[]
  styles: string[]
}

const rooms: Record<string, string> = {
  home: 'home/HomePage.tsx',
  leads: 'leads/LeadsPage.tsx',
  forms: 'forms/FormsPage.tsx',
  connections: 'connections/ConnectionsPage.tsx',
  keys: 'keys/KeysPage.tsx',
  webhooks: 'webhooks/WebhooksPage.tsx',
  settings: 'settings/SettingsPage.tsx',
  profile: 'profile/ProfilePage.tsx',
  // No room, but what the inbox shows when an address names a conversation.
  thread: 'inbox/ThreadPane.tsx',
}
const languages = ['pt', 'es']

/**
 * Makes the page show the app's shape before any other file has come: styles are asked for below what is drawn at once, and
 * `first-look.json` names what each room needs, which the service puts into the page it sends.
 */
export function firstLook(): Plugin {
  return {
    name: 'first-look',
    enforce: 'post',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => {
        const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? []
        const without = styles.reduce((text, style) => text.replace(style, ''), html)
        return without.replace('<!--styles-->', () => `${styles.join('').trim()}\n    <!--styles-->`)
      },
    },
    generateBundle(_, bundle) {
      this.emitFile({ type: 'asset', fileName: 'first-look.json', source: JSON.stringify(partsOf(bundle)) })
    },
  }
}

function partsOf(bundle: Bundle) {
  const chunks = Object.values(bundle).filter((file): file is Chunk => file.type === 'chunk')
  const begun = filesOf(
    bundle,
    chunks.find(({ isEntry }) => isEntry),
  )
  const beside = (source: string): Part => {
    const isIt = (id: string | null) => id?.endsWith(`/web/src/${source}`) === true
    const chunk =
      chunks.find(({ facadeModuleId }) => isIt(facadeModuleId)) ?? chunks.find(({ moduleIds }) => moduleIds.some(isIt))
    if (chunk === undefined) throw new Error(`No part of the app has web/src/${source} in it`)
    const all = filesOf(bundle, chunk)
    const isNew = (kind: keyof Part) => all[kind].filter((file) => !begun[kind].includes(file))
    return { scripts: isNew('scripts'), styles: isNew('styles') }
  }
  const partsFor = (sources: Record<string, string>) =>
    Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, beside(source)]))
  return {
    rooms: partsFor(rooms),
    languages: partsFor(Object.fromEntries(languages.map((name) => [name, `text/${name}/index.ts`]))),
    // What the list of leads says, and with it what all rooms but the inbox do.
    list: partsFor(Object.fromEntries(['en', ...languages].map((name) => [name, `text/${name}/list.ts`]))),
    rest: partsFor(Object.fromEntries(['en', ...languages].map((name) => [name, `text/${name}/rest.ts`]))),
  }
}

/** A file of scripts with all that it imports before it runs, and their styles. */
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
