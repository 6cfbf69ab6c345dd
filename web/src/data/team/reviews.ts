import { type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type RequestOf, type ResponseOf, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'
import { refetchedAfter } from '../../api/refetch.ts'
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
export type ReviewResults = ResponseOf<typeof resultsPath>

const pollMs = 30_000

const reviewsKey = (workspaceId: string) => [workspaceId, 'reviews'] as const

/** Returns reviews page by page. No event announces what others do, so the list is polled. */
export function useReviews(workspaceId: string, status: ReviewStatus) {
  return useInfiniteQuery({
    queryKey: [...reviewsKey(workspaceId), status],
    queryFn: ({ pageParam: cursor }) => api.GET(path, { workspaceId, query: { status, cursor } }),
    ...pagedBy('nextCursor'),
    refetchInterval: pollMs,
    staleTime: 0,
  })
}

export const refetchReviews = (queries: QueryClient, workspaceId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: reviewsKey(workspaceId) })

/** Reserves a review for the reader. */
export const claimReview = (workspaceId: string, reviewId: string) =>
  api.POST(`${onePath}/claim`, { workspaceId, reviewId })

export const submitReview = (workspaceId: string, reviewId: string, body: RequestOf<typeof onePath, 'put'>) =>
  api.PUT(onePath, { workspaceId, reviewId, body })

export const skipReview = (workspaceId: string, reviewId: string) =>
  api.POST(`${onePath}/skip`, { workspaceId, reviewId })

/** Returns the scorecard and the rules. */
export function useReviewSettings(workspaceId: string) {
  return useQuery({
    queryKey: [...reviewsKey(workspaceId), 'settings'],
    queryFn: () => api.GET(settingsPath, { workspaceId }),
  })
}

export const changeReviewSettings = (
  queries: QueryClient,
  workspaceId: string,
  body: RequestOf<typeof settingsPath, 'patch'>,
): Promise<ReviewSettings> =>
  refetchedAfter(queries, reviewsKey(workspaceId))(api.PATCH(settingsPath, { workspaceId, body }))

/** Returns the results of reviews by agent. */
export function useReviewResults(workspaceId: string, period: Days) {
  return useQuery({
    queryKey: [...reviewsKey(workspaceId), 'results', period],
    queryFn: () => api.GET(resultsPath, { workspaceId, query: { ...period } }),
  })
}
