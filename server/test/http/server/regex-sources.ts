import { globSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** All regular expressions of production code: server, simulator with its pages, and web app. */
export function regexSources() {
  /** Literal expressions with the files that contain them. */
  const written = new Map<string, { expression: RegExp; files: string[] }>()
  /** Files that build expressions from strings. */
  const made: string[] = []
  for (const path of globSync('{server,simulator,web}/src/**/*.{ts,tsx,js}', { cwd: root }).sort()) {
    const file = path.replaceAll('\\', '/')
    const lang = extname(path).slice(1) as 'ts' | 'tsx' | 'js'
    visit(parseAst(readFileSync(`${root}/${path}`, 'utf8'), { lang }), ({ type, regex, callee }) => {
      if (/^(?:New|Call)Expression$/.test(type) && callee?.name === 'RegExp') made.push(file)
      if (type !== 'Literal' || !regex) return
      const expression = new RegExp(regex.pattern, regex.flags)
      written.set(`${expression}`, { expression, files: [...(written.get(`${expression}`)?.files ?? []), file] })
    })
  }
  return { written: [...written.values()], made }
}

interface Node {
  type: string
  regex?: { pattern: string; flags: string }
  callee?: { name?: string }
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') see(value as Node)
  for (const inner of Object.values(value)) visit(inner, see)
}
