import { once } from 'node:events'
import type { Clock } from '../../server/src/base/clock.ts'
import type { App } from '../../server/src/base/route.ts'

/** A mail that the simulated mail server has accepted. */
interface SimulatedMail {
  at: string
  to: string
  subject: string
  text: string
}

export interface Mailbox {
  /** Newest first. */
  mails: readonly SimulatedMail[]
  close(): Promise<void>
}

const maxMails = 50
const maxBytes = 1024 * 1024

/**
 * Starts a mail server on loopback that keeps the newest mails in memory. Refuses recipients that begin with `bounce`
 * for good (550), and the first attempt for those that begin with `busy` (451). Its packages are for development.
 */
export async function openMailbox(port: number, clock: Clock, onMail: () => void): Promise<Mailbox> {
  const [{ SMTPServer }, { simpleParser }] = await Promise.all([import('smtp-server'), import('mailparser')])
  const mails: SimulatedMail[] = []
  const busy = new Set<string>()
  const refusal = (address: string): Error | null => {
    if (address.startsWith('bounce')) return withStatus(550, '5.1.1 Mailbox does not exist')
    if (!address.startsWith('busy') || busy.delete(address)) return null
    busy.add(address)
    return withStatus(451, '4.7.1 Try again later')
  }
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    size: maxBytes,
    onAuth: (_auth, _session, callback) => callback(null, { user: 'anyone' }),
    onRcptTo: ({ address }, _session, callback) => callback(refusal(address)),
    onData: (stream, { envelope }, callback) => {
      simpleParser(stream).then(
        ({ subject = '', text = '' }) => {
          mails.unshift({ at: clock.now().toISOString(), to: envelope.rcptTo[0]?.address ?? '', subject, text })
          mails.splice(maxMails)
          onMail()
          callback()
        },
        (error: Error) => callback(error),
      )
    },
  })
  server.on('error', () => {})
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return { mails, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

const withStatus = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

/** Registers the list of mails; `isOn` is false without a simulated mail server. */
export function mailboxRoutes(app: App, mailbox: Mailbox | null): void {
  const schema = { tags: ['Mail'], summary: 'List the mails that the service has sent, newest first' }
  app.get('/simulator/mails', { schema }, () => ({ isOn: mailbox !== null, mails: mailbox?.mails ?? [] }))
}
