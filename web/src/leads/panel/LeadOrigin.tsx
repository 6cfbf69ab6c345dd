import { type LeadTouch, useLeadAttribution } from '../../data/team/lead-sources.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { Facts } from '../../ui/page/Facts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './LeadPanel.module.css'

const shownFields = [
  ...(['source', 'medium', 'campaign', 'content', 'term', 'adName', 'adSet', 'adId', 'formId'] as const),
  ...(['url', 'fbclid', 'gclid', 'ctwaClid'] as const),
] as const

/** How the lead came, the first and the last time; nothing if that is not known. */
export function LeadOrigin({ leadId }: { leadId: string }) {
  const { data } = useLeadAttribution(useWorkspaceId(), leadId)
  const texts = t.leadPage.attribution
  if (data === undefined || data.first === null || data.last === null) return null
  const isOne = data.first.at === data.last.at
  return (
    <section aria-label={texts.title}>
      <h3 className={styles.heading}>{isOne ? texts.title : texts.first}</h3>
      <Facts facts={factsOf(data.first)} />
      {!isOne && (
        <>
          <h3 className={styles.heading}>{texts.last}</h3>
          <Facts facts={factsOf(data.last)} />
        </>
      )}
    </section>
  )
}

function factsOf(touch: LeadTouch): [string, string][] {
  const texts = t.leadPage.attribution
  return [
    [texts.channel, texts.channels[touch.channel]],
    [texts.at, formatDateTime(touch.at)],
    ...shownFields.flatMap((field): [string, string][] => {
      const value = touch[field]
      return typeof value === 'string' ? [[texts.fields[field], value]] : []
    }),
  ]
}
