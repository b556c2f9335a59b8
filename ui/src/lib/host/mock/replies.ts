// How mocks answer: a function for each request, and for each topic.

import type { Asked, Fields, Host, Message, Reply, To, Topic } from "../host";

export type Replies = { [K in Asked]: (fields: Fields<K>) => Promise<Reply<K>> | Reply<K> };

export type Topics = { [T in Topic]: (to: To<T>, sink: (message: Message<T>) => void) => () => void };

/** Answers with these functions, as they are when the request comes. */
export function askWith(replies: Partial<Replies>): Host["ask"] {
  return async <K extends Asked>(request: K, fields: unknown = {}) => {
    const reply = replies[request] as Replies[K] | undefined;
    if (reply === undefined) throw { code: "unsupported", message: `The mock does not answer ${request}.` };
    return reply(fields as Fields<K>);
  };
}

/** Follows with these functions. */
export function followWith(topics: Partial<Topics>): Host["subscribe"] {
  return async <T extends Topic>(to: To<T>, sink: (message: Message<T>) => void) => {
    await Promise.resolve();
    const follow = topics[to.to as T] as Topics[T];
    return follow(to, sink);
  };
}
