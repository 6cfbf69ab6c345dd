import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './PhonesLink.module.css'

/** Link to the simulated phones, if this installation has a simulator. */
export function PhonesLink() {
  const workspaceId = useWorkspaceId()
  const simulatorUrl = useSimulatorUrl(workspaceId)
  if (simulatorUrl === null) return null
  const { phones } = t.connections
  return (
    <aside className={styles.box} aria-label={phones.title}>
      <div className={styles.text}>
        <h2 className={styles.title}>{phones.title}</h2>
        <p className={styles.help}>{phones.help}</p>
      </div>
      <div className={styles.links}>
        <PhoneButton href={`${simulatorUrl}/phone`} label={phones.customers} />
        <PhoneButton href={`${simulatorUrl}/phone/owner`} label={phones.owner} />
        <PhoneButton href={`${simulatorUrl}/phone/platform`} label={phones.platform} />
      </div>
    </aside>
  )
}

export function PhoneButton({ href, label }: { href: string; label: string }) {
  return (
    <Button
      component="a"
      variant="default"
      href={href}
      target="_blank"
      rel="noreferrer"
      rightSection={<IconExternalLink size={16} aria-hidden="true" />}
    >
      {label}
    </Button>
  )
}
