import { Anchor, Button } from '@mantine/core'
import { IconCircle, IconCircleCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { useFormCount } from '../data/forms.ts'
import { usePeopleLists } from '../data/people.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './HomePage.module.css'

const storageKey = (workspaceId: string) => `parley.begun.${workspaceId}`

/** Getting-started checklist; disappears when it is complete or dismissed. */
export default function GettingStarted({ hasLeads }: { hasLeads: boolean }) {
  const workspaceId = useWorkspaceId()
  const [isAway, setAway] = useState(() => localStorage.getItem(storageKey(workspaceId)) !== null)
  const { data: connections } = useConnections(workspaceId)
  const { data: people } = usePeopleLists(workspaceId)
  const isKnown = connections !== undefined && people !== undefined
  const hasNumber = (connections ?? []).length > 0
  const hasKey = people?.keys.some(({ status }) => status === 'active') ?? false
  const isFresh = isKnown && !isAway && !(hasNumber && hasKey && hasLeads)
  const { data: forms = 0 } = useFormCount(workspaceId, isFresh)
  if (!isFresh) return null

  const texts = t.home.gettingStarted
  const dismiss = () => {
    localStorage.setItem(storageKey(workspaceId), 'yes')
    setAway(true)
  }
  const to = (place: string) => `/w/${workspaceId}/${place}`
  return (
    <section className={styles.card} aria-label={texts.title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.title}</h2>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={dismiss}>
          {texts.dismiss}
        </Button>
      </div>
      <ol className={styles.steps}>
        <Step isDone={hasNumber} {...texts.connect} to={to('connections')} />
        <Step isDone={hasKey} {...texts.key} to={to('keys')} />
        <Step isDone={hasLeads} {...texts.call}>
          <Copyable value={curlLine} label={texts.curl} />
        </Step>
        <Step isDone={forms > 0} {...texts.form} to={to('forms')} />
        <Step isDone={(people?.members.length ?? 0) > 1} {...texts.invite} to={to('settings/members')} />
      </ol>
    </section>
  )
}

const curlLine = `curl '${window.location.origin}/api/v1/leads' -H 'Authorization: Bearer YOUR_KEY' --json '{"firstName":"Ana","phone":"+5511987654321"}'`

interface StepProps {
  isDone: boolean
  what: string
  why: string
  to?: string
  action?: string
  children?: ReactNode
}

function Step({ isDone, what, why, to, action, children }: StepProps) {
  return (
    <li className={styles.step} data-done={isDone || undefined}>
      <span className={styles.mark} data-tone={isDone ? 'good' : undefined}>
        {isDone ? (
          <IconCircleCheck size={18} role="img" aria-label={t.home.gettingStarted.done} />
        ) : (
          <IconCircle size={18} color="var(--n8)" role="img" aria-label={t.home.gettingStarted.open} />
        )}
      </span>
      <div>
        <span className={styles.what}>{what}</span>
        {!isDone && <p>{why}</p>}
        {!isDone && children}
        {!isDone && to !== undefined && (
          <Anchor component={Link} to={to} size="sm">
            {action}
          </Anchor>
        )}
      </div>
    </li>
  )
}
