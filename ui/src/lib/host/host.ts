// The window's interface to its surroundings. Only one implementation knows the desktop shell. The requests and their replies are
// generated from the rows of `protocol::api`, which also say what each does.

import type { ApiMessage } from "../bindings/ApiMessage";
import type { ApiReply } from "../bindings/ApiReply";
import type { ApiRequest } from "../bindings/ApiRequest";
import type { ApiSubscription } from "../bindings/ApiSubscription";

/** The name of a request. */
export type Asked = ApiRequest["request"];
/** The fields of a request. */
export type Fields<K extends Asked> = Omit<Extract<ApiRequest, { request: K }>, "request">;
type ReplyOf<K extends Asked> = Extract<ApiReply, { request: K }>["reply"];
/** The reply to a request. One that is only carried out has none. */
export type Reply<K extends Asked> = ReplyOf<K> extends null ? void : ReplyOf<K>;
/** What can be followed. */
export type Topic = ApiSubscription["to"];
/** What a page says when it follows a topic. */
export type To<T extends Topic> = Extract<ApiSubscription, { to: T }>;
/** What a subscription sends. */
export type Message<T extends Topic> = Extract<ApiMessage, { to: T }>["message"];
/** Fields that may be left out if all of them are optional. */
type Given<F> = object extends F ? [fields?: F] : [fields: F];

export interface Host {
  /** Asks the engine or the shell. Rejects with an `ApiError` that says why it was not done. */
  ask<K extends Asked>(request: K, ...given: Given<Fields<K>>): Promise<Reply<K>>;
  /** Sends what there is and what comes, until the returned function is called. */
  subscribe<T extends Topic>(to: To<T>, onMessage: (message: Message<T>) => void): Promise<() => void>;
  /** Tells the engine which session the window shows in full (`null`: only the roster). That session raises no alerts. */
  lookingAt(session: string | null): Promise<void>;
  copy(text: string | Promise<string>): Promise<void>;
}

/** The engine answered that it does not know the thing. */
export function isNotFound(error: unknown): boolean {
  return codeOf(error) === "not_found";
}

/** The code of a failure of the engine. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined;
}

/** The reason of a failure, in words for the user, for any thrown value. */
export function reasonOf(error: unknown): string {
  if (typeof error === "string" && error !== "") return error;
  if (typeof error === "object" && error !== null && "message" in error) {
    const { message } = error as { message: unknown };
    if (typeof message === "string" && message !== "") return message;
  }
  return "The engine gave no answer.";
}
