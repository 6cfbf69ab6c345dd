import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

export const folder = join(root, 'deploy/kubernetes')
export const read = (name: string) => readFileSync(join(folder, name), 'utf8')
export const kustomization = parse(read('kustomization.yaml'))
/** Manifests that are applied, and the secret that they need. */
export const allManifests: Manifest[] = [...kustomization.resources, 'secret.example.yaml'].flatMap((name: string) =>
  parseAllDocuments(read(name)).map((document) => document.toJS()),
)
