import type { Result } from './comparison.ts'
import { cpuCell, cpuHead, spreadCell } from './figures.ts'
import type { Measured } from './load.ts'

export function printResults(head: string, results: readonly Result[], sides = ['Parley', 'baseline']): void {
  const [product = '', baseline = ''] = sides
  const hasOther = results.some(({ other }) => other !== null)
  const peers = hasOther ? [product, 'other checkout', baseline] : [product, baseline]
  const heads = [
    ...[head, ...peers.flatMap((peer) => [`${peer}, p50/p99`, cpuHead]), 'ratio (spread)'],
    ...(hasOther ? ['of the other: rate', "Node's CPU time", "PostgreSQL's"] : []),
  ]
  console.log(`\n${row(heads)}\n${row(heads.map(() => '---'))}`)
  for (const result of results) console.log(row(cells(result)))
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function cells({ name, product, other, baseline, ratios }: Result): string[] {
  const runs = other === null ? [product, baseline] : [product, other.run, baseline]
  return [
    ...[name, ...runs.flatMap((run) => [line(run), cpuCell(run.cpu)]), spreadCell(ratios)],
    ...(other === null ? [] : [other.ratios.perSecond, other.ratios.node, other.ratios.postgres].map(spreadCell)),
  ]
}

export const line = (m: Measured): string =>
  `${Math.round(m.perSecond)}/s ${m.p50Ms.toFixed(1)}/${m.p99Ms.toFixed(1)} ms`
