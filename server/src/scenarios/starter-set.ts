import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseScenario } from './scenario/parse-scenario.ts'
import type { Scenario } from './scenario/scenario-schema.ts'

/** Folder of the scenarios that come with the service, a folder for each topic. */
export const starterFolder = fileURLToPath(new URL('./starter', import.meta.url))

export interface ScenarioFile {
  /** Path below the folder. */
  file: string
  text: string
  scenario: Scenario
}

/** Returns the scenarios that come with the service, by path. */
export const readStarterSet = (): ScenarioFile[] =>
  globSync('*/*.json', { cwd: starterFolder })
    .sort()
    .map((file) => {
      const text = readFileSync(join(starterFolder, file), 'utf8')
      return { file, text, scenario: parseScenario(text, file) }
    })
