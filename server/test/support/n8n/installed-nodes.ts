import { execFile } from 'node:child_process'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { clientFolder } from '../client/built-client.ts'
import { oncePerFile } from '../file-end.ts'
import { newFolder } from '../folder.ts'
import type { CredentialType, NodeType } from './node-type.ts'

const run = promisify(execFile)
export const nodesFolder = join(clientFolder, 'n8n')

export interface InstalledNodes {
  folder: string
  nodes: Map<string, NodeType>
  credentials: Map<string, CredentialType>
  /** How long the nodes have paused, in all tests of the file. */
  pauses: number[]
}

/** The package as n8n has it once it is installed, loaded by what its package.json names. */
export const installedNodes = oncePerFile(async (): Promise<InstalledNodes> => {
  const modules = join(await newFolder(), 'node_modules')
  const folder = join(modules, 'n8n-nodes-parley')
  await mkdir(join(modules, 'n8n-workflow'), { recursive: true })
  await mkdir(folder)
  await cp(join(import.meta.dirname, 'n8n-workflow.cjs'), join(modules, 'n8n-workflow', 'index.js'))
  await cp(join(nodesFolder, 'package.json'), join(folder, 'package.json'))
  await run(process.execPath, [join(nodesFolder, 'build.mjs'), join(folder, 'dist')])
  const require = createRequire(join(folder, 'package.json'))
  const { n8n } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const nodes = (n8n.nodes as string[]).map((file): NodeType => instanceIn(require, folder, file))
  const credentials = (n8n.credentials as string[]).map((file): CredentialType => instanceIn(require, folder, file))
  return {
    folder,
    nodes: new Map(nodes.map((node) => [node.description.name, node])),
    credentials: new Map(credentials.map((credential) => [credential.name, credential])),
    pauses: require('n8n-workflow').pauses,
  }
})

/** n8n takes the class that is called like the file. */
function instanceIn<T>(require: NodeJS.Require, folder: string, file: string): T {
  const [, name = ''] = /([^/]+)\.(?:node|credentials)\.js$/.exec(file) ?? []
  const Class = require(join(folder, file))[name]
  return new Class()
}
