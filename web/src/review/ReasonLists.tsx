import { type Days, useAgentReasons } from '../data/team/agent-numbers.ts'
import { t } from '../text/index.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Why the agent handed over, and why people rejected its drafts. */
export function ReasonLists({ keyId, period }: { keyId: string; period: Days }) {
  const { data } = useAgentReasons(useWorkspaceId(), keyId, period)
  if (data === undefined) return null
  const texts = t.review
  const lists = [
    { label: texts.handoverReasons, reasons: data.handovers },
    { label: texts.rejectionReasons, reasons: data.rejections },
  ]
  return lists
    .filter(({ reasons }) => reasons.length > 0)
    .map(({ label, reasons }) => (
      <div key={label} className={dashboard.card} data-part="6">
        <RankBars
          label={label}
          rows={reasons.map(({ reason, count }) => ({
            key: reason ?? '',
            label: reason ?? texts.noReason,
            value: count,
          }))}
          format={formatNumber}
        />
      </div>
    ))
}
