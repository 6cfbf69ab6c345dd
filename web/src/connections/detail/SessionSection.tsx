import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Connection, type Session, useConnectionActions, useSession } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { takeConsent } from '../parts/risk.ts'
import { Section } from '../parts/Section.tsx'
import { numberOf } from '../parts/state-texts.ts'
import styles from './detail.module.css'
import { PairingPanel } from './PairingPanel.tsx'
import { StartPairing } from './StartPairing.tsx'
import { useSecondsUntil } from './use-seconds-until.ts'

interface SessionSectionProps {
  connection: Connection
  mayChange: boolean
}

/** Phone of a QR session: pairing, state and unlinking. */
export function SessionSection({ connection, mayChange }: SessionSectionProps) {
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
  const run = useMutation({
    mutationFn: () => unpair(connection.id),
    onError: showError,
    onSuccess: () => setConfirming(false),
  })
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
          run={() => run.mutateAsync().catch(() => {})}
          close={() => setConfirming(false)}
        >
          {unlinkHelp}
        </Confirm>
      )}
    </div>
  )
}
