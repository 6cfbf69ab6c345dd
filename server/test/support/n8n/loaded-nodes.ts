import type { EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { oncePerFile } from '../file-lifecycle.ts'
import type { CredentialType, NodeType } from './node-type.ts'

export const nodesFolder = join(import.meta.dirname, '../../../../n8n')
const sources = pathToFileURL(nodesFolder).href
export const workflowFile = join(import.meta.dirname, 'n8n-workflow.cjs')

export interface LoadedNodes {
  nodes: Map<string, NodeType>
  credentials: Map<string, CredentialType>
  /** Emits each pause of the nodes. */
  paused: EventEmitter
}

/** Nodes named by the package, loaded from their sources; `package.slow.test.ts` compares them with the built ones. */
export const loadedNodes = oncePerFile(async (): Promise<LoadedNodes> => {
  const { n8n } = JSON.parse(await readFile(join(nodesFolder, 'package.json'), 'utf8'))
  const instances = async <T>(files: string[]) => Promise.all(files.map((file): Promise<T> => instanceOf(file)))
  const nodes = await instances<NodeType>(n8n.nodes)
  const credentials = await instances<CredentialType>(n8n.credentials)
  return { ...mapped({ nodes, credentials }), paused: (await loaded(workflowFile)).default.paused }
})

export const mapped = ({ nodes, credentials }: { nodes: NodeType[]; credentials: CredentialType[] }) => ({
  nodes: new Map(nodes.map((node) => [node.description.name, node])),
  credentials: new Map(credentials.map((credential) => [credential.name, credential])),
})

/** n8n loads the class with the name of the file. */
export const classIn = (file: string): string => /([^/]+)\.(?:node|credentials)\.js$/.exec(file)?.[1] ?? ''

async function instanceOf<T>(file: string): Promise<T> {
  const module = await loadSource(file.replace(/^dist\/(.*)js$/, '$1ts'))
  return new module[classIn(file)]()
}

/** Loads a source of the package, with a stand-in for its imports from n8n. */
// biome-ignore lint/suspicious/noExplicitAny: modules of every shape
export async function loadSource(path: string): Promise<any> {
  const hooks = registerHooks({
    resolve: (name, context, next) => {
      if (name === 'n8n-workflow')
        return { url: pathToFileURL(workflowFile).href, format: 'commonjs', shortCircuit: true }
      const resolved = next(name, context)
      // The package declares CommonJS, which is true only after its build.
      return resolved.url.startsWith(sources) ? { ...resolved, format: 'module-typescript' } : resolved
    },
  })
  try {
    return await loaded(join(nodesFolder, path))
  } finally {
    hooks.deregister()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: modules of every shape
const loaded = (path: string): Promise<any> => import(pathToFileURL(path).href)
