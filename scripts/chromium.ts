import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isProgram } from './is-program.ts'

// Prefers the headless shell: it does the same for half of the processor time.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]
const usualPlaces = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
]

/** Returns the path of Chromium or Chrome: `CHROMIUM` if set, else the first one found. */
export function findChromium(): string | undefined {
  const chosen = process.env.CHROMIUM
  if (chosen) return isProgram(chosen) ? chosen : undefined
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  return [...onPath, ...usualPlaces].find(isProgram)
}

/** Returns the path of Chromium; installs it as root on Debian, else prints instructions and exits. */
export function ensureChromium(): string {
  const found = findChromium()
  if (found !== undefined) return found

  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log('The web tests need Chromium; installing it with apt-get')
    apt('update')
    for (const name of ['chromium-headless-shell', 'chromium']) {
      apt('install', '-y', '--no-install-recommends', name)
      const installed = findChromium()
      if (installed !== undefined) return installed
    }
  }
  console.error(
    'The web tests need Chromium or Chrome. Install it (Debian, Ubuntu: sudo apt-get install chromium; ' +
      'macOS: brew install --cask chromium), or set CHROMIUM to its path.',
  )
  process.exit(1)
}

function apt(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', args, { stdio: ['ignore', 'inherit', 'inherit'], env })
}
