//! Structs of undecoded fields, each with the keys that name it in JSON.

/// Declares a struct of raw fields, and `take`, which reads the value of a key into its field. Values of other keys are stepped
/// over. The fields after `with` are read by the caller.
macro_rules! raw_fields {
    (
        $(#[$of_struct:meta])*
        $vis:vis struct $name:ident {
            $($(#[$of_field:meta])* $field:ident: $($key:literal)|+,)+
        }
        $(with { $($(#[$of_other:meta])* $other:ident: $type:ty,)+ })?
    ) => {
        $(#[$of_struct])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> {
            $($(#[$of_field])* pub $field: watchbill_core::transcript::json::Raw<'a>,)+
            $($($(#[$of_other])* pub $other: $type,)+)?
        }

        impl<'a> $name<'a> {
            fn take(
                &mut self,
                cursor: &mut watchbill_core::transcript::json::Cursor<'a>,
                key: &str,
            ) -> Option<()> {
                let value = cursor.value()?;
                match key {
                    $($($key)|+ => self.$field = value,)+
                    _ => {}
                }
                Some(())
            }
        }
    };
}

pub(crate) use raw_fields;
