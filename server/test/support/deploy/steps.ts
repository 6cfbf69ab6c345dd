import { readFile } from 'node:fs/promises'

const operations = new URL('../../../../docs/operations.md', import.meta.url)

/** What docs/operations.md says to type below a heading; `sh` are the blocks that a test can type, the others need what is not here. */
export async function stepsUnder(heading: string): Promise<{ sh: string[]; others: string[] }> {
  const text = await readFile(operations, 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const blocks = [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', block = '']) => ({
    kind,
    block,
  }))
  const of = (wanted: string) => blocks.flatMap(({ kind, block }) => (kind === wanted ? [block] : []))
  return { sh: of('sh'), others: of('') }
}
