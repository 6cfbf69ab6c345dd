import { version } from '../../base/version.ts'
import type { Config } from '../../config.ts'
import type { FirstStart } from './first-start.ts'

const openLine =
  'Webhooks and channels may call this machine, as a demo needs. PARLEY_DEMO=0 and PARLEY_SIMULATOR=0 forbid it.'

/** What the terminal shows once the service listens. */
export function welcomeLines(
  { http, dataFolder, database, demo, simulator }: Config,
  start: FirstStart,
  phonesUrl: string | null,
): string[] {
  const { publicUrl } = http
  const data = database.url === null ? [`The data is in ${dataFolder}.`] : []
  return [
    '',
    `  Parley ${version} is running at ${publicUrl}`,
    '',
    ...nextSteps(publicUrl, start).map((line) => (line === '' ? '' : `  ${line}`)),
    '',
    ...(phonesUrl === null ? [] : phoneLines(phonesUrl)),
    ...(demo || simulator.enabled ? [`  ${openLine}`] : []),
    `  API reference: ${publicUrl}/docs`,
    `  ${[...data, 'Stop with Ctrl+C.'].join(' ')}`,
    '',
  ]
}

const phoneLines = (phonesUrl: string): string[] => [
  `  The customers' phones, simulated: ${phonesUrl}`,
  `  The business's own, to link by QR code: ${phonesUrl}/owner`,
]

function nextSteps(publicUrl: string, start: FirstStart): string[] {
  switch (start.state) {
    case 'demo':
      return [
        'Sign in (this link works once, for 24 hours):',
        `  ${start.signInUrl}`,
        '',
        'API key of the workspace Demo (shown only now):',
        `  ${start.apiKey}`,
        '',
        'Create a lead:',
        `  ${curlLine(publicUrl, start.apiKey)}`,
      ]
    case 'empty':
      return [
        'There is no workspace yet. Make one, and get the link by which its first owner joins:',
        '  npx parley workspace create "Acme" --owner you@example.com',
      ]
    case 'known':
      return ['A sign-in link:  npx parley member link', 'An API key:      npx parley key create']
    default:
      return start satisfies never
  }
}

function curlLine(publicUrl: string, apiKey: string): string {
  const headers = `-H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json'`
  const body = '{"firstName":"Marina","phone":"+55 11 98765-4321","source":"website"}'
  return `curl -sS ${publicUrl}/api/v1/leads ${headers} -d '${body}'`
}
