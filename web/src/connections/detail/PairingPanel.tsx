import { Button, Loader } from '@mantine/core'
import { useState } from 'react'
import { type Connection, type Session, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { QrCode } from '../../ui/QrCode.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { PhoneButton } from '../parts/PhonesLink.tsx'
import styles from './PairingPanel.module.css'
import { StartPairing } from './StartPairing.tsx'
import { useSecondsUntil } from './use-seconds-until.ts'

interface PairingPanelProps {
  connection: Connection
  session: Session
}

/** QR code or letters to link the phone, while valid. The next code appears by itself. */
export function PairingPanel({ connection, session }: PairingPanelProps) {
  const workspaceId = useWorkspaceId()
  const [wantsOther, setWantsOther] = useState(false)
  const simulatorUrl = useSimulatorUrl(workspaceId)
  const { session: texts, phones } = t.connections
  return (
    <div className={styles.panel}>
      <div className={styles.shown}>
        <PairingCode session={session} />
        <Countdown until={session.shownUntil} />
      </div>
      <div className={styles.text}>
        <ol className={styles.steps}>
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
  if (pairingCode !== null) return <code className={styles.code}>{groupedCode(pairingCode)}</code>
  return (
    <div className={styles.wait} role="status">
      <Loader size="sm" aria-hidden="true" />
      {waiting}
    </div>
  )
}

function Countdown({ until }: { until: string | null }) {
  const seconds = useSecondsUntil(until)
  const { countsFor, renewing } = t.connections.session
  if (seconds === null) return null
  return <span className={styles.countdown}>{seconds > 0 ? countsFor({ s: seconds }) : renewing}</span>
}

// Grouped as on the phone.
const groupedCode = (code: string): string => (code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : code)
