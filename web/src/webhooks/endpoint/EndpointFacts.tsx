import type { Endpoint } from '../../data/webhooks.ts'
import { CreatedBy } from '../../shared/CreatedBy.tsx'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { Facts } from '../../ui/page/Facts.tsx'
import { PageBody } from '../../ui/page/PageBody.tsx'
import { patternName } from '../webhook-texts.ts'
import styles from './EndpointPage.module.css'

export function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const { url, description, events, phoneVisibility, headerNames, secrets, health } = endpoint
  const until = secrets.oldUntil === null ? [] : [t.webhooks.secretUntil({ until: formatDateTime(secrets.oldUntil) })]
  return (
    <PageBody narrow>
      <div className={styles.card}>
        <Facts
          facts={[
            [
              t.webhooks.url,
              <code key="url" className={styles.url}>
                {url}
              </code>,
            ],
            [t.webhooks.description, description ?? '–'],
            [t.webhooks.events, events.map(patternName).join(', ')],
            [t.webhooks.phones, phoneVisibility === 'full' ? t.webhooks.phonesFull : t.webhooks.phonesMasked],
            [t.webhooks.headers, headerNames.length === 0 ? t.common.none : headerNames.join(', ')],
            [t.webhooks.secret, [t.webhooks.secretValid({ count: secrets.valid }), ...until].join(' · ')],
            [
              t.webhooks.lastSuccess,
              health.lastSuccessAt === null ? t.webhooks.never : formatDateTime(health.lastSuccessAt),
            ],
            [t.webhooks.created, formatDateTime(endpoint.createdAt)],
            [t.settings.createdBy, <CreatedBy key="by" id={endpoint.createdBy} />],
          ]}
        />
      </div>
    </PageBody>
  )
}
