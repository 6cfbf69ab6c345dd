import { Button, Loader, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import {
  type Connection,
  type Session,
  useConnectionActions,
  useSession,
  useSimulatorUrl,
} from '../../data/connections.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { formatDateTime } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { PhoneButton } from '../parts/PhonesLink.tsx'
import { RiskText, takeConsent } from '../parts/risk.tsx'
import { Section } from '../parts/Section.tsx'
import { numberOf } from '../parts/state-texts.ts'
import styles from './detail.module.css'
import pairing from './PairingPanel.module.css'

/** Phone of a QR session: pairing, state and unlinking. */
export function SessionSection({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const workspaceId = useWorkspaceId()
  const query = useSession(workspaceId, connection.id)
  const isOpen = query.data?.state === 'open'
  useAcknowledgeOnceOpen(workspaceId, connection, isOpen)
  return (
    <Section title={t.connections.session.title}>
      <QueryBoundary query={query} rows={2}>
        {(session) => (
          <>
            <SessionState session={session} connection={connection} />
            {session.reason === 'baileys_missing' && <MissingLibrary />}
            {session.state === 'pairing' && mayChange && <PairingPanel connection={connection} session={session} />}
            {(session.state === 'unpaired' || session.state === 'stopped') && mayChange && (
              <StartPairing connectionId={connection.id} isRepairing={session.paired} />
            )}
            {session.paired && mayChange && <Unlink connection={connection} />}
          </>
        )}
      </QueryBoundary>
    </Section>
  )
}

// A new pairing voids earlier acknowledgements, so the consent given before the code was shown is recorded after it.
function useAcknowledgeOnceOpen(workspaceId: string, { id, acknowledgement }: Connection, isOpen: boolean): void {
  const { acknowledge } = useConnectionActions(workspaceId)
  useEffect(() => {
    if (isOpen && acknowledgement === null && takeConsent(id)) void acknowledge(id).catch(showError)
  })
}

function SessionState({ session, connection }: { session: Session; connection: Connection }) {
  const { states, reasons, tryAgainIn } = t.connections.session
  const seconds = useSecondsUntil(session.nextAttemptAt)
  const number = numberOf(connection)
  const reason = session.reason !== null && session.reason in reasons ? session.reason : null
  return (
    <p className={styles.line} aria-live="polite">
      <strong>{states[session.state]}</strong>
      {session.state === 'open' && number !== null && ` · ${number}`}
      {session.state === 'stopped' && reason !== null && ` · ${reasons[reason as keyof typeof reasons]}`}
      {seconds !== null && seconds > 0 && ` · ${tryAgainIn({ s: seconds })}`}
    </p>
  )
}

/** Command that installs the library for real sessions, which Parley does not contain for licence reasons. */
const baileysCommand = 'npm install --no-save baileys@7.0.0-rc14'

function MissingLibrary() {
  const { missing } = t.connections.session
  return (
    <div className={styles.steps}>
      <p className={styles.line}>{missing.help}</p>
      <Copyable value={baileysCommand} label={missing.command} />
      <p className={styles.muted}>{missing.afterwards}</p>
    </div>
  )
}

function Unlink({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const [isConfirming, setConfirming] = useState(false)
  const { unpair } = useConnectionActions(workspaceId)
  const { unlink, unlinkConfirm, unlinkHelp } = t.connections.session
  return (
    <div>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {unlink}
      </Button>
      {isConfirming && (
        <Confirm
          title={unlinkConfirm({ name: connection.name })}
          action={unlink}
          run={() => unpair(connection.id).then(() => setConfirming(false), showError)}
          close={() => setConfirming(false)}
        >
          {unlinkHelp}
        </Confirm>
      )}
    </div>
  )
}

/** Who acknowledged the risk and until when; the form to acknowledge it if that is needed. */
export function RiskSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { acknowledge } = useConnectionActions(workspaceId)
  const confirm = useMutation({ mutationFn: () => acknowledge(connection.id), onError: showError })
  const { acknowledgement, id, numberId } = connection
  const { risk } = t.connections
  const isPaired = numberId !== id
  if (!isPaired) return null
  const counts = acknowledgement !== null && Date.parse(acknowledgement.until) > Date.now()
  return (
    <Section title={risk.section}>
      {counts && (
        <p className={styles.line}>
          {acknowledgement.by === currentUser().id
            ? risk.byYou({ at: formatDateTime(acknowledgement.at) })
            : risk.byOther({ at: formatDateTime(acknowledgement.at) })}{' '}
          {risk.until({ at: formatDateTime(acknowledgement.until) })}
        </p>
      )}
      {!counts && <RiskText />}
      <div className={styles.actions}>
        <Button variant={counts ? 'default' : 'filled'} onClick={() => confirm.mutate()} loading={confirm.isPending}>
          {counts ? risk.renew : risk.confirm}
        </Button>
      </div>
    </Section>
  )
}

/** QR code or letters to link the phone, while valid. The next code appears by itself. */
function PairingPanel({ connection, session }: { connection: Connection; session: Session }) {
  const workspaceId = useWorkspaceId()
  const [wantsOther, setWantsOther] = useState(false)
  const simulatorUrl = useSimulatorUrl(workspaceId)
  const { session: texts, phones } = t.connections
  return (
    <div className={pairing.panel}>
      <div className={pairing.shown}>
        <PairingCode session={session} />
        <Countdown until={session.shownUntil} />
      </div>
      <div className={pairing.text}>
        <ol className={pairing.steps}>
          {Object.values(texts.steps[session.method ?? 'qr']).map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        {simulatorUrl !== null && connection.baseUrl === simulatorUrl && (
          <PhoneButton href={`${simulatorUrl}/phone/owner`} label={phones.owner} />
        )}
        {wantsOther ? (
          <StartPairing connectionId={connection.id} isRepairing={false} />
        ) : (
          <Button variant="subtle" onClick={() => setWantsOther(true)}>
            {texts.otherWay}
          </Button>
        )}
      </div>
    </div>
  )
}

function PairingCode({ session: { qr, pairingCode } }: { session: Session }) {
  const { qrLabel, waiting } = t.connections.session
  if (qr !== null) return <QrCode value={qr} label={qrLabel} size={264} ecc="L" />
  if (pairingCode !== null) return <code className={pairing.code}>{groupedCode(pairingCode)}</code>
  return (
    <div className={pairing.wait} role="status">
      <Loader size="sm" aria-hidden="true" />
      {waiting}
    </div>
  )
}

function Countdown({ until }: { until: string | null }) {
  const seconds = useSecondsUntil(until)
  const { countsFor, renewing } = t.connections.session
  if (seconds === null) return null
  return <span className={pairing.countdown}>{seconds > 0 ? countsFor({ s: seconds }) : renewing}</span>
}

// Grouped as on the phone.
const groupedCode = (code: string): string => (code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : code)

const secondMs = 1000

/** Counts down whole seconds until a time; null without one, 0 once it has passed. */
function useSecondsUntil(iso: string | null): number | null {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (iso === null) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), secondMs)
    return () => clearInterval(timer)
  }, [iso])
  return iso === null ? null : Math.max(0, Math.ceil((Date.parse(iso) - now) / secondMs))
}

interface StartPairingProps {
  connectionId: string
  /** Whether a phone is linked already: a new code unlinks it. */
  isRepairing: boolean
}

/** Starts pairing by QR code, or by letters where the camera cannot scan the screen. */
function StartPairing({ connectionId, isRepairing }: StartPairingProps) {
  const workspaceId = useWorkspaceId()
  const { pair } = useConnectionActions(workspaceId)
  const [byCode, setByCode] = useState(false)
  const draft = useDraft({ phone: '' })
  const start = useMutation({
    mutationFn: (input: Parameters<typeof pair>[1]) => pair(connectionId, input),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const { showQr, byCode: byCodeLabel, phone, phoneHelp, getCode, newCode } = t.connections.session
  if (byCode)
    return (
      <form
        className={styles.inline}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          start.mutate({ method: 'code', phone: draft.value.phone })
        }}
      >
        <TextInput
          label={phone}
          description={phoneHelp}
          type="tel"
          value={draft.value.phone}
          onChange={(event) => draft.set({ phone: event.currentTarget.value })}
          error={draft.errorOf('phone')}
          data-autofocus
        />
        <div className={styles.actions}>
          <Button type="submit" loading={start.isPending}>
            {getCode}
          </Button>
          <Button variant="default" onClick={() => setByCode(false)}>
            {t.common.back}
          </Button>
        </div>
      </form>
    )
  return (
    <div className={styles.actions}>
      <Button onClick={() => start.mutate({ method: 'qr' })} loading={start.isPending}>
        {isRepairing ? newCode : showQr}
      </Button>
      <Button variant="default" onClick={() => setByCode(true)}>
        {byCodeLabel}
      </Button>
    </div>
  )
}
