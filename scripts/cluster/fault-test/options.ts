import { parseArgs } from 'node:util'
import { type Case, cases } from './cases.ts'

export interface FaultTestOptions {
  chosen: readonly Case[]
  rounds: number
  /** No round begins after this many minutes, except the first of each case. */
  minutes: number
  /** Whether to write the results to docs/measurements. */
  write: boolean
  /** Path for the raw results. */
  json: string | undefined
  /** Keeps the cluster running after the fault test. */
  keep: boolean
}

export function readOptions(words: string[]): FaultTestOptions {
  const { values } = parseArgs({
    args: words,
    options: {
      cases: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      minutes: { type: 'string', default: '90' },
      write: { type: 'boolean', default: false },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const names = values.cases?.split(',') ?? cases.map(({ name }) => name)
  const chosen = names.map((name) => {
    const found = cases.find((one) => one.name === name)
    if (found === undefined) throw new Error(`Unknown case ${name}; cases: ${cases.map((one) => one.name).join(', ')}`)
    return found
  })
  const number = (name: 'rounds' | 'minutes') => {
    const parsed = Number(values[name])
    if (!Number.isInteger(parsed) || parsed < 1) throw new Error(`--${name} must be a whole number of at least 1`)
    return parsed
  }
  const { write, json, keep } = values
  return { chosen, rounds: number('rounds'), minutes: number('minutes'), write, json, keep }
}
