import {
  IconAlertTriangle,
  IconBulb,
  IconChevronRight,
  IconCircleCheck,
  IconExclamationCircle,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { Attention } from '../data/stats.ts'
import { t } from '../text/index.ts'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { kindOf } from './attention.ts'
import styles from './HomePage.module.css'

/** What needs attention, most urgent first; each entry links to where it can be fixed. */
export function AttentionList({ attention }: { attention: Attention[] }) {
  const texts = t.home.attention
  return (
    <section className={styles.card} aria-label={texts.title}>
      <h2 className={styles.title}>{texts.title}</h2>
      {attention.every(({ code }) => kindOf(code).tone === 'hint') && (
        <div className={styles.line}>
          <span className={styles.mark} data-tone="good">
            <IconCircleCheck size={18} />
          </span>
          {texts.empty}
        </div>
      )}
      {attention.length > 0 && (
        <ul className={styles.list}>
          {attention.map((one) => (
            <li key={`${one.code} ${one.id}`}>
              <Line one={one} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const icons = { bad: IconExclamationCircle, attention: IconAlertTriangle, hint: IconBulb }

function Line({ one }: { one: Attention }) {
  const workspaceId = useWorkspaceId()
  const { tone, path, search } = kindOf(one.code)
  const Icon = icons[tone]
  return (
    <Link to={`/w/${workspaceId}/${path(one)}` as '/'} search={search as never} className={styles.line}>
      <span className={styles.mark} data-tone={tone}>
        <Icon size={18} aria-label={t.home.attention.tones[tone]} role="img" />
      </span>
      <span className={styles.text}>{attentionText(one)}</span>
      {one.at !== null && (
        <span className={styles.when} title={formatDateTime(one.at)}>
          {Date.parse(one.at) > Date.now() ? formatDateTime(one.at) : timeAgo(one.at)}
        </span>
      )}
      <IconChevronRight size={16} />
    </Link>
  )
}

function attentionText({ code, name, count }: Attention): string {
  const { messages, unnamed } = t.home.attention
  const text = messages[code]
  return typeof text === 'string' ? text : text({ name: name ?? unnamed, n: count ?? 0 })
}
