import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { Simulator } from '../../../simulator/src/simulator.ts'
import { shiftedClock, systemClock } from '../base/clock.ts'
import { handleStopSignals } from './start/stop-signals.ts'
import { printMessage, printResult } from './terminal.ts'

interface SimulateOptions {
  port: string
  host: string
  callback?: string
  demo?: boolean
  partner?: boolean
  json?: boolean
}

/** `parley simulate` */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description(
      'run a simulator of the official chat platform, with phones for its customers and one to link by QR code',
    )
    .option('-p, --port <number>', 'port to listen on; 0 for a free one', '7008')
    .option('--host <address>', 'address to listen on; it has no authentication, so do not expose it', '127.0.0.1')
    .option('-c, --callback <url>', 'URL for its webhooks')
    .option('--demo', 'add customers and templates; with a callback the customers write immediately')
    .option('--partner', 'serve its number through a partner, such as 360dialog')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley simulate --demo --callback http://127.0.0.1:3000/webhook\n')
    .action(simulate)
}

async function simulate({ port, host, callback, demo, partner, json }: SimulateOptions): Promise<void> {
  const signals = handleStopSignals()
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error('--port must be a number from 0 to 65535')
  if (callback !== undefined && !/^https?:$/.test(protocolOf(callback))) {
    throw new Error('--callback must be a URL that starts with http:// or https://')
  }
  if (partner && callback !== undefined) {
    throw new Error('--callback cannot be used with --partner: the service sets the callback at the partner itself')
  }
  const [loaded, { createLog }] = await Promise.all([loadSimulator(), import('../base/log.ts')])
  if (loaded === null)
    throw new Error('The simulator is not part of this package. Run it from a clone of the repository')
  const { startSimulator, newPartnerSide, seedDemo } = loaded
  const simulator = await startSimulator({
    port: Number(port),
    host,
    clock: shiftedClock(systemClock),
    log: createLog('warn'),
    number: { callbackUrl: callback ?? null, partner: partner ? newPartnerSide() : null },
  })
  signals.stopWith(async () => {
    await simulator.stop()
    process.exit(0)
  })
  if (demo) seedDemo(simulator, { speak: callback !== undefined })
  printResult(json, describeSimulator(simulator), linesOf(simulator))
  printMessage('Stop with Ctrl+C.')
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '')

function describeSimulator({ url, number }: Simulator) {
  const { numberId, accountId, accessToken, appSecret, verifyToken, callbackUrl, partner } = number
  const addresses = { baseUrl: url, phonesUrl: `${url}/phone`, ownerPhoneUrl: `${url}/phone/owner`, numberId }
  if (partner !== null) return { ...addresses, apiKey: partner.apiKey }
  return { ...addresses, accountId, accessToken, appSecret, verifyToken, callbackUrl }
}

function linesOf({ url, number }: Simulator): string[] {
  const { numberId, accountId, accessToken, appSecret, verifyToken, callbackUrl, partner } = number
  const ofPartner = [
    `  API key          ${partner?.apiKey}`,
    '  webhooks go to   set by the connection when it is created',
  ]
  const ofNumber = [
    `  account id       ${accountId}`,
    `  access token     ${accessToken}`,
    `  app secret       ${appSecret}`,
    `  verify token     ${verifyToken}`,
    `  webhooks go to   ${callbackUrl ?? 'not set: set callbackUrl with PATCH /simulator/numbers/<number id>'}`,
  ]
  return [
    `Customers' phones:      ${url}/phone`,
    `Business phone:         ${url}/phone/owner`,
    `Controls (OpenAPI):     ${url}/simulator`,
    '',
    partner === null ? 'For a connection:' : 'For a connection of the channel partner, profile 360dialog:',
    `  base address     ${url}`,
    `  number id        ${numberId}`,
    ...(partner === null ? ofNumber : ofPartner),
    '',
    'For a connection of the channel unofficial, linked to the business phone by QR code:',
    `  base address     ${url}`,
  ]
}

export type LoadedSimulator = NonNullable<Awaited<ReturnType<typeof loadSimulator>>>

/** Loads the simulator, a development tool; null in an installed package, which does not contain it. */
export async function loadSimulator() {
  if (!existsSync(new URL('../../../simulator', import.meta.url))) return null
  const [{ startSimulator }, { newNumber, newPartnerSide }, { seedDemo }] = await Promise.all([
    import('../../../simulator/src/simulator.ts'),
    import('../../../simulator/src/world.ts'),
    import('../../../simulator/src/demo/seed-demo.ts'),
  ])
  return { startSimulator, newNumber, newPartnerSide, seedDemo }
}
