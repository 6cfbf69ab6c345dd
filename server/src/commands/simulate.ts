import type { Command } from 'commander'
import { shiftedClock, systemClock } from '../base/clock.ts'
import { createLog } from '../base/log.ts'
import { seedDemo } from '../channels/simulator/seed-demo.ts'
import { type Simulator, startSimulator } from '../channels/simulator/simulator.ts'
import { takeStopSignals } from './stop-signals.ts'
import { answer, say } from './terminal.ts'

interface SimulateOptions {
  port: string
  host: string
  callback?: string
  demo?: boolean
  json?: boolean
}

/** `parley simulate` */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('run a stand-in for the official chat platform, with phones for its customers')
    .option('-p, --port <number>', 'port to listen on; 0 takes a free one', '7008')
    .option('--host <address>', 'address to listen on; it knows no passwords, so keep it to this machine', '127.0.0.1')
    .option('-c, --callback <url>', 'where its webhooks go')
    .option('--demo', 'with customers and templates; with a callback the customers write at once')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley simulate --demo --callback http://127.0.0.1:3000/webhook\n')
    .action(simulate)
}

async function simulate({ port, host, callback, demo, json }: SimulateOptions): Promise<void> {
  const signals = takeStopSignals()
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error('--port must be a number from 0 to 65535')
  if (callback !== undefined && !/^https?:$/.test(protocolOf(callback))) {
    throw new Error('--callback must be an address that starts with http:// or https://')
  }
  const simulator = await startSimulator({
    port: Number(port),
    host,
    clock: shiftedClock(systemClock),
    log: createLog('warn'),
    number: callback === undefined ? {} : { callbackUrl: callback },
  })
  signals.stopWith(async () => {
    await simulator.stop()
    process.exit(0)
  })
  if (demo) seedDemo(simulator, { speak: callback !== undefined })
  answer(json, described(simulator), linesOf(simulator))
  say('Stop with Ctrl+C.')
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '')

function described({ url, number }: Simulator) {
  const { numberId, accountId, accessToken, appSecret, verifyToken, callbackUrl } = number
  const phonesUrl = `${url}/phone`
  return { baseUrl: url, phonesUrl, numberId, accountId, accessToken, appSecret, verifyToken, callbackUrl }
}

function linesOf(simulator: Simulator): string[] {
  const { baseUrl, phonesUrl, ...number } = described(simulator)
  return [
    `The customers' phones:  ${phonesUrl}`,
    `The knobs, as OpenAPI:  ${baseUrl}/simulator`,
    '',
    'For a connection:',
    `  base address     ${baseUrl}`,
    `  number id        ${number.numberId}`,
    `  account id       ${number.accountId}`,
    `  access token     ${number.accessToken}`,
    `  app secret       ${number.appSecret}`,
    `  verify token     ${number.verifyToken}`,
    `  webhooks go to   ${number.callbackUrl ?? 'nowhere yet: set callbackUrl by PATCH /simulator/numbers/<number id>'}`,
  ]
}
