import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newFolder } from '../../support/folder.ts'
import { classIn, loadedNodes, mapped, nodesFolder, workflowFile } from '../../support/n8n/loaded-nodes.ts'

test('the built package has all nodes, no dependencies, and all files that it names', async () => {
  const modules = join(await newFolder(), 'node_modules')
  const folder = join(modules, 'n8n-nodes-parley')
  await mkdir(join(modules, 'n8n-workflow'), { recursive: true })
  await mkdir(folder)
  await cp(workflowFile, join(modules, 'n8n-workflow', 'index.js'))
  await cp(join(nodesFolder, 'package.json'), join(folder, 'package.json'))
  await promisify(execFile)(process.execPath, [join(nodesFolder, 'build.mjs'), join(folder, 'dist')])
  const require = createRequire(join(folder, 'package.json'))
  const { dependencies, n8n, keywords } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const instances = (files: string[]) => files.map((file) => new (require(join(folder, file))[classIn(file)])())
  const built = mapped({ nodes: instances(n8n.nodes), credentials: instances(n8n.credentials) })
  const { nodes, credentials } = await loadedNodes()
  // As n8n passes them to its editor.
  const shown = (things: Map<string, object>) => JSON.parse(JSON.stringify([...things]))
  assert.deepEqual(shown(built.nodes), shown(nodes))
  assert.deepEqual(shown(built.credentials), shown(credentials))

  assert.equal(dependencies, undefined)
  assert.ok(keywords.includes('n8n-community-node-package'))
  for (const file of n8n.nodes as string[]) {
    const codex = JSON.parse(await readFile(join(folder, file.replace(/js$/, 'json')), 'utf8'))
    const node = built.nodes.get(codex.node.replace('n8n-nodes-parley.', ''))
    assert.ok(node !== undefined, `${file} has its own codex`)
    for (const icon of Object.values(node.description.icon))
      assert.ok(existsSync(join(folder, dirname(file), icon.replace('file:', ''))), `${file} has ${icon}`)
  }
})
