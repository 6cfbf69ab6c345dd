import { globSync, readFileSync } from 'node:fs'
import { extname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

export interface Sources {
  /** Every expression that is written down, with the files where it stands. */
  written: { expression: RegExp; files: string[] }[]
  /** The files that make one of a text. */
  made: string[]
}

/** The regular expressions of all that runs: the server, its simulator's pages, and the web app. */
export function regexSources(): Sources {
  const written = new Map<string, { expression: RegExp; files: string[] }>()
  const made: string[] = []
  for (const path of globSync('{server,web}/src/**/*.{ts,tsx,js}', { cwd: root }).sort()) {
    const file = relative('.', path).replaceAll('\\', '/')
    const kinds = { '.ts': 'ts', '.tsx': 'tsx', '.js': 'js' } as const
    const lang = kinds[extname(path) as keyof typeof kinds]
    visit(parseAst(readFileSync(`${root}/${path}`, 'utf8'), { lang }), (node) => {
      if (makesRegex(node)) made.push(file)
      if (node.type !== 'Literal' || !node.regex) return
      const { pattern, flags } = node.regex
      const known = written.get(`/${pattern}/${flags}`) ?? { expression: new RegExp(pattern, flags), files: [] }
      written.set(`/${pattern}/${flags}`, { ...known, files: [...known.files, file] })
    })
  }
  return { written: [...written.values()], made }
}

interface Node {
  type: string
  regex?: { pattern: string; flags: string }
  callee?: { name?: string }
}

function makesRegex({ type, callee }: Node): boolean {
  return /^(?:New|Call)Expression$/.test(type) && callee?.name === 'RegExp'
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') see(value as Node)
  for (const inner of Object.values(value)) visit(inner, see)
}
