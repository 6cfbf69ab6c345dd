import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import compile from 'icu-minify/compile'

// Generates the argument types of the web app's texts, from the English catalogs.

export interface Catalogue {
  [name: string]: string | Catalogue
}
type ArgumentType = 'Shown' | 'string' | 'number'

export const parts = ['entry', 'frame', 'list', 'home', 'talk', 'rest']
const target = fileURLToPath(new URL('../web/src/text/schema.ts', import.meta.url))
/** How the compiler represents choices by case and by number; it has no kind for a value inserted unchanged. */
const types = new Map<unknown, ArgumentType>([
  [undefined, 'Shown'],
  [1, 'string'],
  [2, 'number'],
])

export async function readCatalogue(language: string, part: string): Promise<Catalogue> {
  return JSON.parse(await readFile(new URL(`../web/src/text/${language}/${part}.json`, import.meta.url), 'utf8'))
}

/** Returns the arguments of a message with their types. */
export function argumentsOf(message: string): Map<string, ArgumentType> {
  const found = new Map<string, ArgumentType>()
  const visit = (nodes: unknown): void => {
    if (!Array.isArray(nodes)) return
    for (const node of nodes) {
      if (!Array.isArray(node)) continue
      const [name, kind, options = {}] = node
      const type = types.get(kind)
      if (type === undefined) throw new Error(`Only names, plurals and selects are supported as arguments: ${message}`)
      if (!found.has(name) || type !== 'Shown') found.set(name, type)
      Object.values(options).forEach(visit)
    }
  }
  visit(compile(message))
  return found
}

/** Returns null if no text in it has arguments. */
function typeOf(one: string | Catalogue): string | null {
  if (typeof one !== 'string') {
    const fields = fieldsOf(one)
    return fields.length === 0 ? null : `{ ${fields.join('; ')} }`
  }
  const values = [...argumentsOf(one)].map(([name, type]) => `${name}: ${type}`)
  return values.length === 0 ? null : `(values: { ${values.join('; ')} }) => string`
}

const fieldsOf = (catalogue: Catalogue): string[] =>
  Object.entries(catalogue).flatMap(([name, one]) => {
    const type = typeOf(one)
    return type === null ? [] : [`${/^\w+$/.test(name) ? name : `'${name}'`}: ${type}`]
  })

export async function textTypes(): Promise<string> {
  const catalogues = await Promise.all(parts.map((part) => readCatalogue('en', part)))
  const sections = catalogues.flatMap(Object.entries<string | Catalogue>).flatMap(([name, section]) => {
    const fields = typeof section === 'string' ? [] : fieldsOf(section)
    return fields.length === 0 ? [] : [`  ${name}: {\n${fields.map((field) => `    ${field}\n`).join('')}  }\n`]
  })
  return `// Written by \`npm run contract\` from the English catalogues.

type Shown = string | number

/** Arguments of the texts that have any. */
export interface Calls {
${sections.join('')}}
`
}

export async function writeTextTypes(): Promise<void> {
  await writeFile(target, await textTypes())
}

/** Returns whether the generated types match the catalogs. */
export async function textTypesAreCurrent(): Promise<boolean> {
  return (await readFile(target, 'utf8').catch(() => '')) === (await textTypes())
}
