//! One call to another program on a bus, and its answer.

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zbus::Connection;
use zbus::zvariant::{DynamicType, Type};

/// Calls a method of the object at this bus name and path.
///
/// # Errors
/// When the program refuses or does not run, and when its answer is of another type.
pub(crate) async fn ask<Arguments, Answer>(
    connection: &Connection,
    place: (&str, &str),
    interface: &str,
    method: &str,
    arguments: &Arguments,
) -> Result<Answer>
where
    Arguments: Serialize + DynamicType + Sync,
    Answer: DeserializeOwned + Type,
{
    let (service, path) = place;
    let reply = connection.call_method(Some(service), path, Some(interface), method, arguments).await?;
    Ok(reply.body().deserialize()?)
}
