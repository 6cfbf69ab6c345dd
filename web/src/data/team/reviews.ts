import { type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../api/client.ts'
import type { Days } from './agent-numbers.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/reviews'
const onePath = `${path}/{reviewId}` as const
const settingsPath = '/api/team/v1/workspaces/{workspaceId}/review-settings'
const resultsPath = '/api/team/v1/workspaces/{workspaceId}/review-results'

export type Review = Schemas['Review']
export type ReviewStatus = Schemas['ReviewStatus']
export type ReviewFlag = Schemas['ReviewFlag']
export type ReviewSettings = Schemas['ReviewSettings']
export type Criterion = Schemas['ReviewCriterion']
export type ReviewRules = Schemas['ReviewRules']
export type ReviewResults = Awaited<ReturnType<typeof readResults>>

const pollMs = 30_000

const reviewsKey = (workspaceId: string) => [workspaceId, 'reviews'] as const

/** Returns reviews page by page. No event announces what others do, so the list is polled. */
export function useReviews(workspaceId: string, status: ReviewStatus) {
  return useInfiniteQuery({
    queryKey: [...reviewsKey(workspaceId), status],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(path, {
          params: { path: { workspaceId }, query: { status, ...(pageParam !== null && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: pollMs,
    staleTime: 0,
  })
}

export const refetchReviews = (queries: QueryClient, workspaceId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: reviewsKey(workspaceId) })

/** Reserves a review for the reader. */
export const claimReview = (workspaceId: string, reviewId: string) =>
  unwrap(api.POST(`${onePath}/claim`, { params: { path: { workspaceId, reviewId } } }))

export const submitReview = (
  workspaceId: string,
  reviewId: string,
  verdict: Pick<Review, 'scores' | 'flags' | 'comment'>,
) => unwrap(api.PUT(onePath, { params: { path: { workspaceId, reviewId } }, body: verdict }))

export const skipReview = (workspaceId: string, reviewId: string) =>
  unwrap(api.POST(`${onePath}/skip`, { params: { path: { workspaceId, reviewId } } }))

/** Returns the scorecard and the rules. */
export function useReviewSettings(workspaceId: string) {
  return useQuery({
    queryKey: [...reviewsKey(workspaceId), 'settings'],
    queryFn: () => unwrap(api.GET(settingsPath, { params: { path: { workspaceId } } })),
  })
}

export interface ReviewSettingsChange {
  criteria?: (Omit<Criterion, 'id'> & { id?: string })[]
  dailyLimit?: number
  rules?: ReviewRules[]
}

export async function changeReviewSettings(
  queries: QueryClient,
  workspaceId: string,
  change: ReviewSettingsChange,
): Promise<ReviewSettings> {
  const changed = await unwrap(api.PATCH(settingsPath, { params: { path: { workspaceId } }, body: change }))
  await refetchReviews(queries, workspaceId)
  return changed
}

const readResults = (workspaceId: string, period: Days) =>
  unwrap(api.GET(resultsPath, { params: { path: { workspaceId }, query: { ...period } } }))

/** Returns the results of reviews by agent. */
export function useReviewResults(workspaceId: string, period: Days) {
  return useQuery({
    queryKey: [...reviewsKey(workspaceId), 'results', period],
    queryFn: () => readResults(workspaceId, period),
  })
}
